import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';
import { type Recipe, runSample, sealedClaims, unsealedClaims } from './recipe.ts';

const bySigners = ['--allowed-signers', '.writ/allowed_signers', '--require', 'approvals'];

/** Runs that wait for people, and runs that people approved. */
export const waitingRecipes: Readonly<Record<string, Recipe>> = {
  'waiting-for-two': {
    about: 'a run that waits for two people, of whom none has signed',
    sample: 2,
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      return [
        { run: ['fsck'] },
        { run: ['show', run.run_id] },
        { run: ['runs'] },
        { run: ['resume', run.run_id], exit: 4 },
        { run: ['approve', run.run_id, '--key', keys.ann] },
        { run: ['approve', run.run_id, '--key', keys.ben] },
        { run: ['resume', run.run_id] },
        ...sealedClaims(run, bySigners),
      ];
    },
  },
  'waiting-for-one-more': {
    about: 'a run that one of two people has approved',
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      await place.writ(['approve', run.run_id, '--key', keys.ann]);
      return [
        ...unsealedClaims(run),
        { run: ['resume', run.run_id], exit: 4 },
        { run: ['approve', run.run_id, '--key', keys.ben] },
        { run: ['resume', run.run_id] },
        ...sealedClaims(run, bySigners).slice(0, 2),
      ];
    },
  },
  approved: {
    about: 'a run that two people have approved and that no one has resumed',
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      await place.writ(['approve', run.run_id, '--key', keys.ann]);
      await place.writ(['approve', run.run_id, '--key', keys.ben]);
      return [
        ...unsealedClaims(run),
        { run: ['resume', run.run_id] },
        ...sealedClaims(run, bySigners).slice(0, 2),
      ];
    },
  },
  'sealed-with-approvals': {
    about: 'a run that two people approved and that was sealed',
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      await place.writ(['approve', run.run_id, '--key', keys.ann]);
      await place.writ(['approve', run.run_id, '--key', keys.ben]);
      await place.writ(['resume', run.run_id]);
      await place.writ(['report', run.run_id, '--bundle', '../evidence.json']);
      return [
        ...sealedClaims(run, bySigners),
        { run: ['verify', '../evidence.json', '--replay', ...bySigners] },
      ];
    },
  },
  'sealed-with-approvals-in-process': {
    about: 'a run approved by keys of its own process, as its configuration allows',
    async make(place) {
      const keys = addPeople(place, '[approvals]\nin_process = true\n');
      const args = ['--approve-with', keys.ann, '--approve-with', keys.ben];
      return sealedClaims(await runSample(place, twoPeople, { args }), bySigners);
    },
  },
  'waiting-in-a-remote': {
    about: 'a run that waits in one clone, fetched into another that never worked on it',
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      place.git('clone', '--quiet', '--bare', '--template=', '.', '../remote.git');
      await place.writ(['push', '../remote.git']);
      place.git('for-each-ref', '--format=delete %(refname)', 'refs/ai');
      spawnSync('rm', ['-rf', join(place.repo, '.git', 'writ'), join(place.repo, '.git', 'refs', 'ai')]);
      return [
        { run: ['fetch', '../remote.git'] },
        ...unsealedClaims(run),
        { run: ['approve', run.run_id, '--key', keys.ann] },
        { run: ['approve', run.run_id, '--key', keys.ben] },
        { run: ['resume', run.run_id] },
        { run: ['push', '../remote.git'] },
        ...sealedClaims(run, bySigners).slice(0, 2),
      ];
    },
  },
};

export const twoPeople = {
  acceptance: {
    verificationPlan: {
      releaseChecks: [
        {
          id: 'people',
          kind: 'policy',
          command: 'require-approvers --min 2',
          timeoutSeconds: 60,
          required: true,
          artifactsProduced: [],
        },
      ],
    },
  },
};

/** Makes SSH keys for two people and lists them in `.writ/allowed_signers`; returns their paths from `repo/`. */
export function addPeople(place: Place, config?: string): { readonly ann: string; readonly ben: string } {
  const lines = ['ann', 'ben'].map((name) => {
    const path = join(place.home, `${name}.key`);
    const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
    if (made.status !== 0) throw new Error(`\`ssh-keygen\` ended with ${made.status}`);
    return `${name}@sample.example ${readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')}\n`;
  });
  const files = { '.writ/allowed_signers': lines.join('') };
  place.commit('Signers', { ...files, ...(config === undefined ? {} : { '.writ/config.toml': config }) });
  return { ann: '../home/ann.key', ben: '../home/ben.key' };
}
