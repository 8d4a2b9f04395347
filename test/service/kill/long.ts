/* `node test/service/kill/long.ts [ROUNDS] [SEED]`: the long loop of the service's kill test; exits 1 where any round complained. */
import { killServices } from './kill-services.ts';

const [rounds = '500', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
process.stdout.write(`seed ${seed}\n`);
const { complaints, startsMs, undisturbedMs, ...counts } = await killServices({
  seed: Number(seed),
  rounds: Number(rounds),
  report: (line) => process.stdout.write(`${line}\n`),
});
const sorted = [...startsMs].sort((a, b) => a - b);
const at = (part: number): number => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN);
process.stdout.write(
  `${rounds} rounds, seed ${seed}: ${JSON.stringify(counts)}\nstart behind a kill: median ${at(0.5)} ms, 90 % ${at(0.9)} ms, longest ${at(1)} ms; undisturbed ${Math.round(undisturbedMs)} ms\n${complaints.length} complaints\n`,
);
process.exitCode = complaints.length === 0 && Number(rounds) > 0 ? 0 : 1;
