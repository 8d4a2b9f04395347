import { mkdir, readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import { toFault } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';

async function faultOf(doing: () => Promise<unknown>): Promise<WritError> {
  try {
    await doing();
  } catch (thrown) {
    return toFault(thrown);
  }
  throw new TypeError('it must fail');
}

t.test(
  'file system errors are ENVIRONMENT_BROKEN with exit code 128, other errors are INTERNAL',
  async (t) => {
    const directory = t.testdir({ file: '' });
    for (const doing of [
      () => readFile(directory),
      () => readdir(`${directory}/file`),
      // So says Node of a read-only file system, too.
      () => mkdir(`${directory}/absent/below`),
    ]) {
      const fault = await faultOf(doing);
      t.match(fault, { code: 'ENVIRONMENT_BROKEN', exitCode: 128, hints: [/./] });
      t.match(fault.detail, { code: /EISDIR|ENOTDIR|ENOENT/ });
    }
    t.equal(
      (await faultOf(() => readFile(`${directory}/absent`))).code,
      'INTERNAL',
      'a file of ours that is missing',
    );
    t.equal(toFault(new TypeError('x is not a function')).code, 'INTERNAL');
    t.equal(
      toFault(Object.assign(new Error('EROFS'), { code: 'EROFS' })).code,
      'INTERNAL',
      'no system call failed',
    );
    const known = new WritError('RUN_BUSY');
    t.equal(toFault(known), known);
  },
);
