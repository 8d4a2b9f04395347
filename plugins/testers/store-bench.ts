import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../core/base/clock.ts';
import type { ObjectStore } from '../../core/contract/object-store.ts';
import type { StoreSource } from '../../core/contract/store-source.ts';
import { type StartedProcess, startProcess } from '../../engine/tool/spawn.ts';
import { openRepository } from '../../engine/vcs/repository.ts';

/** A store to be tested: named by module and export, because other processes open it too. */
export interface StoreSubject {
  readonly module: URL;
  /** Name of the exported StoreSource. */
  readonly export: string;
  /** Makes an empty git repository with a work tree; answers its path. Called once per case. */
  readonly repository: () => Promise<string> | string;
}

/** What a process of the store tester is asked to do, as its one argument. */
export interface WriterOrder {
  readonly module: string;
  readonly export: string;
  readonly repository: string;
  readonly ref: string;
  /**
   * `hang`: stop in the middle of a write and say so in `said`. `add`: `count` writes of one file each. `replace`:
   * whole versions, for ever.
   */
  readonly task: 'hang' | 'add' | 'replace';
  readonly name: string;
  readonly count: number;
  readonly said: string;
}

/** What one case works with: a store over a repository of its own. */
export interface StoreBench {
  readonly store: ObjectStore;
  /** Starts another process over the same repository. */
  readonly start: (order: Pick<WriterOrder, 'task' | 'name' | 'count'>) => Started;
}

/** Another process over the same store. */
export interface Started {
  readonly process: StartedProcess;
  /** Waits until it says something. */
  readonly said: () => Promise<void>;
}

/** What every store promises, each as a function that rejects where it does not hold. */
export type StoreCases = Readonly<Record<string, (bench: StoreBench) => Promise<void>>>;

/** The ref that cases and their processes write. */
export const ref = 'refs/ai/runs/one';
export const text = (value: string): Buffer => Buffer.from(value);

/** Files that all hold the same word: two words in one version would be a torn one. */
export function* versionFiles(word: string, count: number): Generator<readonly [string, Uint8Array]> {
  for (let index = 0; index < count; index += 1) yield [`part/${index}`, Buffer.from(word)];
}

/** Says no more than that they differ: a comparison of megabytes, shown, would take all memory. */
export function sameBytes(found: Buffer | undefined, expected: Buffer, name?: string): void {
  const what = name === undefined ? '' : ` of \`${name}\``;
  assert.ok(
    found?.equals(expected),
    `expected ${expected.length} bytes${what}, found ${found === undefined ? 'nothing' : 'others'}`,
  );
}

/** A store of the subject over a fresh repository. */
export async function openBench(subject: StoreSubject): Promise<StoreBench> {
  const directory = await subject.repository();
  const repository = await openRepository(directory);
  const loaded = (await import(subject.module.href)) as Readonly<Record<string, StoreSource | undefined>>;
  const source = loaded[subject.export];
  assert.ok(source, `\`${subject.module.href}\` exports no \`${subject.export}\``);
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const writer = fileURLToPath(new URL(`./store-writer.${extension}`, import.meta.url));
  let started = 0;
  return {
    store: source.open({ repository, clock: systemClock, actorId: 'tester' }),
    start(given) {
      started += 1;
      const said = join(repository.gitDir, `said-${started}`);
      const order: WriterOrder = {
        ...given,
        module: subject.module.href,
        export: subject.export,
        repository: directory,
        ref,
        said,
      };
      const child = startProcess([process.execPath, writer, JSON.stringify(order)], {
        cwd: directory,
        env: { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      });
      child.stdout.resume();
      let gone = false;
      child.exited.then(
        () => (gone = true),
        () => (gone = true),
      );
      return {
        process: child,
        said: async () => {
          while (!existsSync(said)) {
            if (gone) {
              const { code, stderr } = await child.exited;
              assert.fail(`the writing process ended with ${code}: ${stderr.toString('utf8')}`);
            }
            await systemClock.sleep(5);
          }
        },
      };
    },
  };
}
