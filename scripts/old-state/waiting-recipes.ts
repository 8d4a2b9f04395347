import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './place.ts';
import { type Recipe, runSample, sealedClaims, unsealedClaims } from './recipe.ts';

/** Runs that wait for people, and what became of them. */
export const waitingRecipes: Readonly<Record<string, Recipe>> = {
  'waiting-for-two': {
    about: 'a run that waits for two people, of whom none has signed',
    sample: 3,
    async make(place) {
      const keys = addPeople(place);
      const run = await runSample(place, twoPeople, { exit: 4 });
      return [
        ...unsealedClaims(run),
        { run: ['resume', run.run_id], exit: 4 },
        { run: ['approve', run.run_id, '--key', keys.ann] },
        { run: ['approve', run.run_id, '--key', keys.ben] },
        { run: ['resume', run.run_id] },
        ...sealedClaims(run, ['--allowed-signers', '.writ/allowed_signers']),
      ];
    },
  },
};

const twoPeople = {
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
function addPeople(place: Place): { readonly ann: string; readonly ben: string } {
  const lines = ['ann', 'ben'].map((name) => {
    const path = join(place.home, `${name}.key`);
    const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path]);
    if (made.status !== 0) throw new Error(`\`ssh-keygen\` ended with ${made.status}`);
    return `${name}@sample.example ${readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')}\n`;
  });
  place.commit('Signers', { '.writ/allowed_signers': lines.join('') });
  return { ann: '../home/ann.key', ben: '../home/ben.key' };
}
