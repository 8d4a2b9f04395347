import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { serviceProgressPlugin } from '../../../bin/terminal/run-progress.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { definePlugin, type LoadedPlugin } from '../../../core/kernel/plugin.ts';
import { accessService, findServicePlace } from '../../../service/find-service.ts';
import { openRunPublisher } from '../../../service/run-publisher.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { fixtures, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { startService } from '../../service/started-service.ts';
import { startedChildren } from '../../workspace/git/started-children.ts';
import { runWrit, startWrit } from '../start-writ.ts';

/** Whole runs on a busy machine. */
t.setTimeout(120_000);

const change = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
const source = { kind: 'patch', bytes: readFileSync(change) } as const;

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function sampleOf(t: Test): { readonly sample: Sample; readonly place: Parameters<typeof startService>[1] } {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { root: cwd, env } = sample;
  return { sample, place: { cwd, env, directory: join(cwd, '.writ', 'service') } };
}

long(
  'the service reports the start, approval, resume and decision of a run',
  { skip: withoutSshKeygen },
  async (t) => {
    const { sample, place } = sampleOf(t);
    const key = makeKey(sample.home, 'ana');
    mkdirSync(join(sample.root, '.writ'));
    writeFileSync(join(sample.root, '.writ', 'allowed_signers'), `ana@example.org ${publicOf(key)}\n`);
    sample.git('add', '-A');
    sample.git('commit', '-qm', 'people');
    const files = { spec: join(sample.home, 'spec.json'), patch: join(sample.home, 'change.diff') };
    writeFileSync(files.spec, sampleSpec({ risk: { humanInLoop: { required: true, minApprovers: 1 } } }));
    cpSync(change, files.patch);
    const service = await startService(t, place);
    const watch = startWrit(['service', 'events', '--json'], place);
    t.teardown(() => watch.child.kill('SIGKILL'));
    await watch.until(() => watch.err().includes('following '));

    const waiting = await runWrit(['run', files.spec, '--patch', files.patch, '--json'], place);
    t.equal(waiting.code, 4, waiting.out + waiting.err);
    const run_id: string = JSON.parse(waiting.out).data.run_id;
    const approved = await runWrit(['approve', run_id, '--key', key, '--json'], place);
    t.equal(approved.code, 0, approved.out);
    const resumed = await runWrit(['resume', run_id, '--json'], place);
    t.equal(resumed.code, 0, resumed.out);
    service.child.kill('SIGTERM');
    t.equal(await watch.ended, 0);

    const events = watch
      .out()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event)
      .filter(({ type }) => type !== 'service_lifecycle');
    t.ok(
      events.every(({ data }) => data.run_id === run_id),
      'all of this run',
    );
    const settled = (stage: string, more: object = {}) => ({
      type: 'stage_settled',
      data: { stage, ...more },
    });
    const first = events.slice(0, 7);
    t.match(first, [
      {
        type: 'run_started',
        data: { resumed: false, spec_id: String, summary: String, stages: ['fast'] },
      },
      settled('fast', { status: 'passed', expected: 1, ran: 1 }),
      settled('integration', { status: 'skipped' }),
      settled('security'),
      settled('release'),
      { type: 'decision_made', data: { type: String, rationale: String } },
      { type: 'approval_needed', data: { needed: 1, rationale: String } },
    ]);
    t.match(events[7], { type: 'run_started', data: { resumed: true } });
    const last = events.at(-1);
    t.match(last, {
      type: 'decision_made',
      data: { type: 'commit', commit_sha: sample.git('rev-parse', 'HEAD') },
    });
    t.notOk(events.slice(8).some(({ type }) => type === 'approval_needed' || type === 'run_started'));
  },
);

long('a service that starts during a run receives the remaining events', async (t) => {
  const { sample, place } = sampleOf(t);
  using children = startedChildren();
  let events: Promise<string> | undefined;
  let stop = (): void => {};
  const late: LoadedPlugin = definePlugin({
    name: 'late',
    api: 1,
    setup({ hooks }) {
      hooks.stage.settled.tap(async ({ stage }) => {
        if (stage.stage !== 'fast') return;
        t.notOk(existsSync(join(sample.root, '.writ')), 'nothing is made by a run that nobody watches');
        const service = await startService(t, place);
        stop = () => service.child.kill('SIGTERM');
        events = (await service.ask('/api/service/events')).text();
      });
      return undefined;
    },
  });
  const view = await sample.run({ source }, {}, [late, serviceProgressPlugin(sample.root)]);
  stop();
  const types = [...((await events) ?? '').matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  t.equal(view.decision?.type, 'commit');
  const count = children.gits().length;
  // A run by itself starts 36 (`few-processes.test.ts` holds it to 40).
  t.ok(count >= 30 && count <= 41, `to look for a service costs three processes, and once: ${count}`);
  t.same(types, [
    'service_lifecycle',
    'stage_settled',
    'stage_settled',
    'stage_settled',
    'stage_settled',
    'decision_made',
    'service_lifecycle',
  ]);
});

long('an unresponsive service does not fail a run', async (t) => {
  const { sample, place } = sampleOf(t);
  const service = await startService(t, place);
  service.child.kill('SIGSTOP');
  const view = await sample.run({ source }, {}, [serviceProgressPlugin(sample.root)]);
  t.equal(view.decision?.type, 'commit');

  const found = await findServicePlace(await openRepository(sample.root));
  const publisher = openRunPublisher(() => accessService(found), systemClock);
  for (let index = 0; index < 20; index += 1)
    publisher.publish('stage_settled', { run_id: view.runId, index });
  await publisher.settle(1_000);
});
