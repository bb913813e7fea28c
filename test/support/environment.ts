/** Runs `work` with other environment variables; undefined takes one away. */
export async function withEnvironment(
  changes: Readonly<Record<string, string | undefined>>,
  work: () => Promise<void>,
): Promise<void> {
  const set = (values: Readonly<Record<string, string | undefined>>): void => {
    for (const [name, value] of Object.entries(values))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, process.env[name]]));
  set(changes);
  try {
    await work();
  } finally {
    set(before);
  }
}

/** An environment without what `make test` leaves in it: the make of a test is nobody's child. */
export const withoutMake = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(MAKE|MFLAGS)/.test(name)));
