import { PassThrough, Readable } from 'node:stream';
import type { CommandSpec } from '../../bin/command-parts/command.ts';
import { dispatch } from '../../bin/dispatch.ts';
import { openSink } from '../../bin/terminal/print.ts';
import { sharedPool } from '../engine/shared-pool.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line over a given table without a process. */
export async function runLine(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  given: {
    readonly stdin?: string | Buffer;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    readonly terminal?: boolean;
  } = {},
): Promise<Ran> {
  const out = new PassThrough();
  const err = new PassThrough();
  const outSink = openSink(out);
  const errSink = openSink(err);
  const code = await dispatch(argv, commands, {
    out: outSink,
    err: errSink,
    outTerminal: { isTTY: given.terminal === true },
    errTerminal: { isTTY: given.terminal === true, columns: 80 },
    stdin: Object.assign(Readable.from(given.stdin === undefined ? [] : [Buffer.from(given.stdin)]), {
      isTTY: given.terminal === true,
    }),
    cwd: given.cwd ?? process.cwd(),
    env: given.env ?? {},
    pool: sharedPool(),
    signal: given.signal ?? new AbortController().signal,
  });
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}
