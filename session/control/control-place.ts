import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';

/** Which files a person named; both absolute, or relative to where he stands. */
export interface ControlFiles {
  /** `--control-token-file` */
  readonly tokenFile?: string;
  /** `--control-info-file` */
  readonly infoFile?: string;
}

/** Where a session puts what others control it by. */
export interface ControlPlace {
  /** Root of the work tree; exists. */
  readonly root: string;
  /** `.writ/code`: where files lie that nobody named. */
  readonly segments: readonly string[];
  readonly directory: string;
  readonly token: string;
  readonly info: string;
  /** Somebody named the discovery file: it is written in every mode. */
  readonly isInfoNamed: boolean;
  readonly tokenLock: string;
  readonly infoLock: string;
}

const segments = ['.writ', 'code'];

/**
 * `.writ/code` of the work tree, or the files that were named (document 2, Options). Each file has a lock, so that
 * whoever shares one of them with another instance is refused: `control.lock` for those that nobody named, else the
 * file's own name with `.lock`. USAGE where both are one, or one is that of MCP.
 */
export async function findControlPlace(
  root: string,
  { tokenFile, infoFile }: ControlFiles,
): Promise<ControlPlace> {
  const directory = join(root, ...segments);
  const shared = join(directory, 'control.lock');
  const ownToken = join(directory, 'control-token');
  const ownInfo = join(directory, 'control.json');
  const token = tokenFile === undefined ? ownToken : await oneName(tokenFile);
  const info = infoFile === undefined ? ownInfo : await oneName(infoFile);
  const lockOf = (file: string) => (file === ownToken || file === ownInfo ? shared : `${file}.lock`);
  const place = {
    root,
    segments,
    directory,
    token,
    info,
    isInfoNamed: infoFile !== undefined,
    tokenLock: lockOf(token),
    infoLock: lockOf(info),
  };
  const names = [token, info, place.tokenLock, place.infoLock];
  if (token === info || names.slice(2).some((lock) => lock === token || lock === info))
    throw new WritError('USAGE', {
      message: 'expected `--control-token-file` and `--control-info-file` to be two files',
      detail: { token_file: token, info_file: info },
    });
  const ofMcp = [token, info].find((file) => file.startsWith(join(directory, 'mcp-token')));
  if (ofMcp !== undefined)
    throw new WritError('USAGE', {
      message: `\`${ofMcp}\` is where the token of MCP is put: expected another control file`,
      detail: { token_file: token, info_file: info },
    });
  return place;
}

/** However its directory was spelt, a file has one name here; the file itself may be a link, which is refused later. */
async function oneName(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}
