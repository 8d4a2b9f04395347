/*
 * `npm run bench`: every figure that an issue names, as ratios measured in one run. Exit 1 where one is missed.
 * `npm run bench -- --smoke`: each bench in its smallest size, those with a script of their own too, held to nothing
 * but that it runs to its end.
 */
import { spawnSync } from 'node:child_process';
import { benchCanonicalDigest } from './canonical-digest.ts';
import { benchCheckWorlds } from './check-worlds.ts';
import { benchCodeStart } from './code-start.ts';
import { benchLargePatch } from './large-patch.ts';
import { printTable } from './measure.ts';
import { benchOneRun } from './one-run.ts';
import { benchOpenThread } from './open-thread.ts';
import { benchPlan } from './plan-10000.ts';
import { benchPluginProcess } from './plugin-process.ts';
import { benchResumeRun } from './resume-run.ts';
import { benchScheduleTasks } from './schedule-tasks.ts';
import { benchSessionCalls } from './session-calls.ts';
import { isSmoke } from './sized.ts';
import { stagePackage } from './stage-package.ts';
import { benchStartUp } from './start-up.ts';
import { benchStoreObjects } from './store-objects.ts';
import { benchThousandChecks } from './thousand-checks.ts';
import { benchVerifyHead } from './verify-head.ts';

const built = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(1);
const launcher = stagePackage();
const held = [
  await benchStartUp(launcher),
  await benchCodeStart(launcher),
  await benchVerifyHead(launcher),
  await benchOneRun(launcher),
  await benchCanonicalDigest(),
  await benchLargePatch(launcher),
  await benchPlan(),
  await benchScheduleTasks(),
  await benchThousandChecks(launcher),
  await benchCheckWorlds(),
  await benchStoreObjects(),
  await benchResumeRun(),
  await benchOpenThread(),
  await benchSessionCalls(),
  await benchPluginProcess(),
];
if (isSmoke)
  held.push(
    ...[
      'ledger',
      'verify',
      'fan-out',
      'session-events',
      'composer',
      'page-pace',
      'scan',
      'scan-diff',
      'service-marks',
      'lockfiles',
      'model-turns',
      'shell-lines',
      'workers',
    ].map(runs),
  );
printTable();
process.exit(held.every(Boolean) ? 0 : 1);

/** Whether a bench with a script of its own ends well. */
function runs(name: string): boolean {
  const { status } = spawnSync(process.execPath, [`bench/${name}.ts`], { stdio: 'inherit' });
  if (status !== 0) process.stdout.write(`MISS  bench/${name}.ts ended with ${status}\n`);
  return status === 0;
}
