import type { Clock } from '../base/clock.ts';
import { WritError } from '../base/errors.ts';
import { readGuarded } from '../base/guarded-file.ts';
import type { HttpStreamer } from '../base/http-question.ts';
import { askHttp, type HttpAsker } from '../base/net.ts';
import type { WorkerPool } from './worker/pool.ts';

/** What a plugin is handed instead of reaching for it. */
export interface Capabilities {
  readonly clock: Clock;
  /** The engine's threads; whoever made them closes them. */
  readonly pool: Pick<WorkerPool, 'threads' | 'run'>;
  /** One bounded question over HTTPS; NETWORK_FAILED. */
  readonly fetch: HttpAsker;
  /** One question over HTTPS whose answer comes in pieces; its connections are kept until the engine closes. */
  readonly stream: HttpStreamer;
  readonly secret: Secrets;
  readonly files: OwnFiles;
}

/** A secret by name; `undefined` where none of that name was handed in. PLUGIN_INVALID for what is no name. */
export type Secrets = (name: string) => string | undefined;

/** Small files of the user's own. */
export interface OwnFiles {
  /**
   * At most 64 KiB of text in a regular file that nobody else may have changed, with `secret` none else may read, and
   * never through a symbolic link: KEY_INSECURE. `undefined` where there is none.
   */
  read(path: string, secret: boolean): Promise<string | undefined>;
}

/** Names that an environment can hold. */
const nameForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Secrets as an environment holds them: asked for one by one, never listed. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): Secrets {
  return (name) => {
    if (!nameForm.test(name))
      throw new WritError('PLUGIN_INVALID', { message: 'a secret is asked for by its name' });
    return Object.hasOwn(env, name) ? env[name] : undefined;
  };
}

export const ownFiles: OwnFiles = { read: readGuarded };

/** Everything that every plugin of an engine is handed. */
export function createCapabilities(
  clock: Clock,
  pool: WorkerPool,
  stream: HttpStreamer,
  env: Readonly<Record<string, string | undefined>>,
): Capabilities {
  return Object.freeze({
    clock,
    pool: { threads: pool.threads, run: pool.run },
    fetch: askHttp,
    stream,
    secret: secretsOf(env),
    files: ownFiles,
  });
}
