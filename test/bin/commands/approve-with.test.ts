import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../../bin/command-table.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { fixtures, makeSample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';

long(
  '`writ run --approve-with` signs approvals and refuses unusable keys before any work',
  { skip: withoutSshKeygen },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const [ana, ben] = [makeKey(sample.home, 'ana'), makeKey(sample.home, 'ben')];
    mkdirSync(join(sample.root, '.writ'));
    writeFileSync(
      join(sample.root, '.writ', 'allowed_signers'),
      `ana@x.example ${publicOf(ana)}\nben@x.example ${publicOf(ben)}\n`,
    );
    writeFileSync(join(sample.root, '.writ', 'config.toml'), '[approvals]\nin_process = true\n');
    sample.git('add', '--all');
    sample.git('commit', '--quiet', '-m', 'Signers');
    const spec = join(sample.home, 'spec.json');
    writeFileSync(spec, sampleSpec({ risk: { humanInLoop: { required: true, minApprovers: 2 } } }));
    const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
    const run = async (...keys: readonly string[]) => {
      const options = keys.flatMap((key) => ['--approve-with', key]);
      const line = ['--json', 'run', spec, '--patch', patch, ...options];
      const { code, out, err } = await runLine(line, commands, { cwd: sample.root, env: sample.env });
      return { code, err, ...JSON.parse(out) };
    };
    const refs = () => sample.git('for-each-ref', 'refs/ai');

    chmodSync(ben, 0o644);
    const loose = await run(ana, ben);
    t.match(loose, { code: 128, error: { code: 'KEY_INSECURE' } });
    t.match(await run(ana, join(sample.home, 'absent')), { error: { code: 'KEY_UNUSABLE' } });
    t.equal(refs(), '', 'a key that cannot sign is refused before any work');
    chmodSync(ben, 0o600);

    const one = await run(ana);
    t.match(one, { code: 4, error: { code: 'DECISION_WAITING' } });
    t.match(one.err, /approving in this process with SHA256:.*in_process/);
    t.match(
      one.error.message,
      '1 of 2 people approved, 1 is missing; approved by `ana@x.example`',
      'the first line says who is missing',
    );
    const show = async () =>
      (await runLine(['show', one.data.run_id], commands, { cwd: sample.root, env: sample.env })).out;
    const firstOf = (text: string): string => text.split('\n')[1] ?? '';
    t.match(firstOf(await show()), '1 of 2 people approved, 1 is missing; approved by `ana@x.example`');
    const shown = await runLine(['--json', 'approve', one.data.run_id, '--key', ben], commands, {
      cwd: sample.root,
      env: sample.env,
    });
    t.match(JSON.parse(shown.out).data, {
      approved: 2,
      approvers: [
        { principal: 'ana@x.example', status: 'counts', in_process: true },
        { principal: 'ben@x.example', status: 'counts', in_process: undefined },
      ],
    });

    const enough = await show();
    t.match(firstOf(enough), '2 of 2 people approved; approved by `ana@x.example`, `ben@x.example`');
    t.match(enough, `next  writ resume ${one.data.run_id}`);

    const both = await run(ana, ben);
    t.match(both, { code: 0, data: { decision: { type: 'commit' } } });
    t.equal(sample.git('rev-parse', 'main'), both.data.decision.commit_sha);
  },
);
