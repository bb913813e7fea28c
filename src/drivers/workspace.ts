import { dir } from 'tmp-promise';

/** Runs `work` with a temporary folder that is gone afterwards, whatever happened. */
export async function withWorkspace<T>(work: (folder: string) => Promise<T>, parent?: string): Promise<T> {
  const { path, cleanup } = await dir({
    prefix: 'tilewright-',
    unsafeCleanup: true,
    ...(parent === undefined ? {} : { tmpdir: parent }),
  });
  try {
    return await work(path);
  } finally {
    await cleanup();
  }
}
