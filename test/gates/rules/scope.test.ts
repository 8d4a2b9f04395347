import t from 'tap';
import { gateTester } from '../../../testing.ts';
import { findRule } from './find-rule.ts';

const inside = { intent: { inScope: ['the code in src/'], outOfScope: ['src/legacy/'] } };
const text = { base: 'a\n', candidate: 'b\n' };

await gateTester(t, findRule('scope'), {
  valid: [
    { name: 'a changed file inside', files: { 'src/a.ts': text }, spec: inside },
    { name: 'a contract that names no place', files: { 'docs/a.md': text } },
    {
      name: 'a file named by touchHints',
      files: { 'docs/a.md': text },
      spec: { intent: { inScope: ['the guide'], touchHints: { files: ['docs/*.md'] } } },
    },
  ],
  invalid: [
    {
      name: 'a changed file outside',
      files: { 'docs/a.md': text },
      spec: inside,
      expect: [{ rule: 'scope', path: 'docs/a.md', detail: { verdict: 'outside', changeType: 'modify' } }],
    },
    {
      name: 'an added file outside',
      files: { 'src/a.ts': text, 'x.sh': { candidate: 'x\n' } },
      spec: inside,
      expect: [{ path: 'x.sh' }],
    },
    {
      name: 'a deleted file outside',
      files: { 'docs/a.md': { base: 'a\n' } },
      spec: inside,
      expect: [{ path: 'docs/a.md' }],
    },
    {
      name: 'a mode change outside',
      files: { 'run.sh': { base: 'a\n', candidate: 'a\n', newMode: '100755' } },
      spec: inside,
      expect: [{ path: 'run.sh' }],
    },
    {
      name: 'a forbidden place inside the scope',
      files: { 'src/legacy/a.ts': text },
      spec: inside,
      expect: [{ detail: { verdict: 'forbidden', changeType: 'modify' } }],
    },
    {
      name: 'a file moved in from outside',
      files: { 'src/a.ts': { base: 'a\n', candidate: 'a\n', oldPath: 'docs/a.ts' } },
      spec: inside,
      expect: [{ path: 'docs/a.ts' }],
    },
    {
      name: 'a file moved out',
      files: { 'docs/a.ts': { base: 'a\n', candidate: 'a\n', oldPath: 'src/a.ts' } },
      spec: inside,
      expect: [{ path: 'docs/a.ts' }],
    },
  ],
});
