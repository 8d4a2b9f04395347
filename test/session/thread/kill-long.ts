/* `node test/session/thread/kill-long.ts [ROUNDS] [SEED]`: the long loop of the kill test of threads; exits 1 where any round complained. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../chance/seeded-random.ts';
import { killThreads } from './kill-threads.ts';

const [rounds = '500', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const box = mkdtempSync(join(tmpdir(), 'writ-kill-threads-'));
const { complaints, ...counts } = await killThreads(box, Number(rounds), seededRandom(Number(seed)), (line) =>
  process.stdout.write(`${line}\n`),
);
process.stdout.write(
  `${complaints.map((one) => `${one}\n`).join('')}${rounds} rounds, seed ${seed}: ${JSON.stringify(counts)}; ${complaints.length} complaints\n`,
);
// What went wrong can be looked at.
if (complaints.length === 0) rmSync(box, { recursive: true, force: true });
process.exitCode = complaints.length === 0 && Number(rounds) > 0 ? 0 : 1;
