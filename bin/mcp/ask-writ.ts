/* Runs a writ command inside this process for an MCP tool. */
import { Readable } from 'node:stream';
import { WritError } from '../../core/base/errors.ts';
import type { McpGround, WritAnswer } from '../../session/mcp/tool.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { contractCommands } from '../command-table/contract-commands.ts';
import { otherCommands } from '../command-table/other-commands.ts';
import { runCommands } from '../command-table/run-commands.ts';
import { dispatch } from '../dispatch.ts';
import type { Sink } from '../terminal/print.ts';

/** Commands that an MCP client may run. All are read-only. */
const open: ReadonlySet<string> = new Set(['spec validate', 'plan', 'scan', 'runs', 'show', 'verify']);
const commands = [...contractCommands, ...runCommands, ...otherCommands].filter(({ name }) => open.has(name));
const maxBytes = 64 * 1024 * 1024;

/**
 * Runs a command of writ's in this process as `writ WORDS --json` would: its own data and its own refusals. It has no
 * terminal, its standard input is empty, and what it prints stays here.
 */
export function callWrit({
  cwd,
  env,
  repoPath,
}: Pick<CommandContext, 'cwd' | 'env' | 'repoPath'>): McpGround['ask'] {
  return async (words, signal) => {
    const asked = new AbortController();
    const stop = (): void =>
      asked.abort(new WritError('RUN_INTERRUPTED', { message: 'the client took its call back' }));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const out = capture();
    try {
      const repo = repoPath === undefined ? [] : [`--repo=${repoPath}`];
      await dispatch(withOptions(words, ['--json', ...repo]), commands, {
        out,
        err: capture(),
        outTerminal: {},
        errTerminal: {},
        stdin: Readable.from([]),
        cwd,
        env,
        signal: asked.signal,
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return JSON.parse(out.text()) as WritAnswer;
  };
}

/** Inserts options before `--`. */
function withOptions(words: readonly string[], options: readonly string[]): readonly string[] {
  const at = words.indexOf('--');
  return at === -1 ? [...words, ...options] : words.toSpliced(at, 0, ...options);
}

function capture(): Sink & { readonly text: () => string } {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    write(chunk) {
      size += chunk.length;
      if (size > maxBytes) throw new WritError('OUTPUT_TOO_LARGE');
      parts.push(Buffer.from(chunk));
    },
    flush: async () => undefined,
    closed: false,
    failure: undefined,
    text: () => Buffer.concat(parts).toString('utf8'),
  };
}
