import t from 'tap';
import type { JudgeReach } from '../../../../core/interfaces/patch-set.ts';
import { joinReach } from '../../../../engine/evaluate/second-run/verification-inputs.ts';

const base: JudgeReach = {
  files: [
    { path: 'b.js', role: 'test', checks: ['unit'], via: 'base' },
    { path: 'a.js', role: 'script', checks: ['unit'], via: 'base' },
  ],
  scripts: { 'package.json': ['test'], 'old/package.json': ['x'] },
  programs: ['node', 'jest'],
  places: [''],
  directories: ['src'],
  absent: { 'one.mk': 'base' },
  gaps: [],
};
const policy: JudgeReach = {
  files: [
    { path: 'b.js', role: 'script', checks: ['lint'], via: 'policy' },
    { path: 'a.js', role: 'test', checks: ['lint'], via: 'policy' },
    { path: 'c.js', role: 'config', checks: ['lint'], via: 'policy' },
  ],
  scripts: { 'package.json': ['lint', 'test'] },
  programs: ['node', 'eslint'],
  places: ['web'],
  directories: ['web'],
  gaps: ['more'],
};

t.test('`joinReach` unites both versions, and a script in either of them stays a script', (t) => {
  t.same(joinReach(policy, base), {
    files: [
      { path: 'a.js', role: 'script', checks: ['lint', 'unit'], via: 'base' },
      { path: 'b.js', role: 'script', checks: ['lint', 'unit'], via: 'policy' },
      { path: 'c.js', role: 'config', checks: ['lint'], via: 'policy' },
    ],
    scripts: { 'package.json': ['lint', 'test'], 'old/package.json': ['x'] },
    programs: ['eslint', 'jest', 'node'],
    places: ['', 'web'],
    directories: ['src'],
    absent: { 'one.mk': 'base' },
    gaps: ['more'],
  });
  t.end();
});
