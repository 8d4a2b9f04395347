/* `node test/kill/long.ts [ROUNDS] [SEED]`: the long loop of the kill test; prints what it did, exits 1 where any round complained. */
import { killRuns } from './kill-run.ts';

const [rounds = '200', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const report = await killRuns({
  seed: Number(seed),
  rounds: Number(rounds),
  report: (line) => process.stdout.write(`${line}\n`),
});
const { killed, killedAgain, undisturbedMs, complaints } = report;
process.stdout.write(
  `${report.rounds} rounds, seed ${seed}: ${killed.unbegun} killed before the journal, ${killed.midway} midway, ${killed.ended} after the end, ${killedAgain} resumes killed as well; undisturbed ${Math.round(undisturbedMs)} ms; ${complaints.length} complaints\n`,
);
process.exitCode = complaints.length === 0 && report.rounds > 0 ? 0 : 1;
