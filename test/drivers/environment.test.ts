import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cacheFolder, childEnvironment, installerEnvironment } from '../../src/drivers/environment.js';
import { withEnvironment } from '../support/environment.js';

const surroundings = {
  PATH: '/bin',
  HOME: '/home/me',
  TMPDIR: '/tmp',
  TRITON_CACHE_DIR: '/x',
  CPATH: '/x',
  LANG: 'de_DE',
  https_proxy: 'http://proxy:1',
  NO_PROXY: 'localhost',
  PIP_INDEX_URL: 'http://index',
  XDG_CONFIG_HOME: '/home/me/config',
};

test('a tool sees what it needs to run', () =>
  withEnvironment({ ...surroundings, LD_LIBRARY_PATH: undefined }, async () => {
    expect(childEnvironment()).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      TMPDIR: '/tmp',
      LANG: 'C',
      LC_ALL: 'C',
      TZ: 'UTC',
    });
  }));

test('an installer also sees how to reach the network, in either case, and its own settings', () =>
  withEnvironment(surroundings, async () => {
    const seen = installerEnvironment();
    expect(seen).toMatchObject({
      https_proxy: 'http://proxy:1',
      NO_PROXY: 'localhost',
      PIP_INDEX_URL: 'http://index',
      XDG_CONFIG_HOME: '/home/me/config',
    });
    expect(Object.keys(seen)).not.toContain('TRITON_CACHE_DIR');
  }));

test.each([
  [{ TILEWRIGHT_CACHE_DIR: '/a', XDG_CACHE_HOME: '/b' }, '/a'],
  [{ TILEWRIGHT_CACHE_DIR: undefined, XDG_CACHE_HOME: '/b' }, '/b/tilewright'],
  [{ TILEWRIGHT_CACHE_DIR: '', XDG_CACHE_HOME: '' }, join(homedir(), '.cache/tilewright')],
])('the cache folder of %j', (variables, folder) =>
  withEnvironment(variables, async () => {
    expect(cacheFolder()).toBe(folder);
  }),
);
