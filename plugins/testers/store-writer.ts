import { writeFileSync } from 'node:fs';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { StoreSource } from '../../core/contract/store-source.ts';
import { openRepository } from '../../core/vcs/repository.ts';

/** What a process of the store tester is asked to do, as its one argument. */
export interface WriterOrder {
  readonly module: string;
  readonly export: string;
  readonly repository: string;
  readonly ref: string;
  /** `hang`: stop in the middle of a write and say so in `said`. `add`: `count` writes of one file each. `replace`: whole versions, for ever. */
  readonly task: 'hang' | 'add' | 'replace';
  readonly name: string;
  readonly count: number;
  readonly said: string;
}

if (import.meta.main) await work(JSON.parse(process.argv[2] ?? '{}') as WriterOrder);

async function work(order: WriterOrder): Promise<void> {
  const loaded = (await import(order.module)) as Readonly<Record<string, StoreSource | undefined>>;
  const repository = await openRepository(order.repository);
  const store = loaded[order.export]?.open({ repository, clock: systemClock, actorId: 'tester' });
  if (store === undefined) throw new Error(`\`${order.module}\` has no \`${order.export}\``);
  const { ref, task, name, count } = order;
  if (task === 'hang') {
    await store.writeTree(ref, { message: name, files: hanging(order), keepExisting: true });
  }
  for (let round = 0; task === 'replace' || round < count; round += 1) {
    if (task === 'replace') {
      await store.writeTree(ref, {
        message: name,
        files: versionFiles(`${name}-${round}`, count),
        keepExisting: false,
      });
      writeFileSync(order.said, String(round));
    } else {
      await untilWritten(() =>
        store.writeTree(ref, {
          message: name,
          files: [[`${name}/${round}`, Buffer.from(name)]],
          keepExisting: true,
        }),
      );
    }
  }
}

/** Files that all hold the same word: two words in one version would be a torn one. */
export function* versionFiles(word: string, count: number): Generator<readonly [string, Uint8Array]> {
  for (let index = 0; index < count; index += 1) yield [`part/${index}`, Buffer.from(word)];
}

async function* hanging({ said, count, name }: WriterOrder): AsyncGenerator<readonly [string, Uint8Array]> {
  yield* versionFiles(name, count);
  writeFileSync(said, 'half');
  await systemClock.sleep(600_000);
}

async function untilWritten(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (fault) {
      const lost = isWritError(fault, 'EVIDENCE_WRITE_FAILED') && 'found' in fault.detail;
      if (!lost) throw fault;
    }
  }
}
