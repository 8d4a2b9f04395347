import { resolve } from 'node:path';
import { escapeJson } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import { findSession } from '../../session/client/find-session.ts';
import { serveRequests } from '../../session/client/serve-requests.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/**
 * `writ code-control --stdio`: relays JSON-RPC between stdin, stdout and a running session until the input ends.
 * Stdout carries only the protocol.
 */
export async function codeControlCommand(context: CommandContext): Promise<CommandResult> {
  const { options, print, signal, stdin, cwd, repoPath } = context;
  if (!options.flag('stdio'))
    throw new WritError('USAGE', {
      message: 'expected `--stdio`: requests and answers go over standard input and output',
      detail: { option: '--stdio' },
    });
  const [url, tokenFile, infoFile] = ['url', 'token-file', 'info-file'].map((name) => options.value(name));
  const access = await findSession({
    root: async () => (await openRepository(repoPath ?? cwd)).root,
    ...(url === undefined ? {} : { url }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(cwd, tokenFile) }),
    ...(infoFile === undefined ? {} : { infoFile: resolve(cwd, infoFile) }),
  });
  const told = await serveRequests({
    access,
    input: stdin,
    signal,
    async write(line) {
      print.raw(escapeJson(line));
      return print.taken();
    },
  });
  return succeeded(told, () => {});
}
