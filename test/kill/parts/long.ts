/* `node test/kill/parts/long.ts [ROUNDS] [SEED] [FIRST]`: rounds of everything under faults; exits 1 where one complained. */
import { noRedis } from '../../engine/workers/local-queue.ts';
import { killParts } from './rounds.ts';

const [rounds = '500', seed = String(Date.now() % 1_000_000), from = '0'] = process.argv.slice(2);
if (noRedis) {
  process.stderr.write(`${noRedis}\n`);
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    process.stdout.write(`${signal}\n`);
    process.exit(1);
  });
const { complaints, ...counts } = await killParts({
  ...{ seed: Number(seed), rounds: Number(rounds), from: Number(from) },
  report: (line) => process.stdout.write(`${line}\n`),
});
process.stdout.write(`seed ${seed}, ${complaints.length} complaints: ${JSON.stringify(counts, null, 2)}\n`);
process.exit(complaints.length === 0 ? 0 : 1);
