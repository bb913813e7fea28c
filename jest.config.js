export default {
  testEnvironment: 'node',
  // A test that runs tools takes as long as the machine is busy; what limits it is the tool's own time-out.
  testTimeout: 120_000,
  // The clean-up wraps objects that live in globals (signal-exit keeps its emitter there) anew for every file, until a
  // write to one of them runs out of stack.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  reporters: ['default', '<rootDir>/test/support/summary-reporter.js'],
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^tilewright$': '<rootDir>/src/index.ts',
    '^tilewright/testing$': '<rootDir>/src/testing/index.ts',
    '^tilewright/runtime$': '<rootDir>/src/runtime/index.ts',
    '^tilewright/kernels$': '<rootDir>/kernels/index.ts',
    '^tilewright/(triton|mgpu)$': '<rootDir>/src/frontend/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};
