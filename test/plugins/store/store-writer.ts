/* A process of the store tester. It performs its one argument, a WriterOrder. */
import { writeFileSync } from 'node:fs';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { StoreSource } from '../../../core/interfaces/store-source.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { versionFiles, type WriterOrder } from './store-tester.ts';

await work(JSON.parse(process.argv[2] ?? '{}') as WriterOrder);

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
