import { room } from './rooms/room.ts';

await room(
  'core/patch/stated-authors.test.ts',
  'core/patch/hunk-lines.test.ts',
  'core/patch/binary-sides.test.ts',
  'gates/source',
  'gates/grammar',
  'gates/rules/scope.test.ts',
  'gates/rules/no-direct-eval.test.ts',
  'gates/rules/secrets.test.ts',
  'gates/secrets',
  'gates/rules/suppressions.test.ts',
  'gates/rules/new-tests.test.ts',
  'gates/rules/tests-kept.test.ts',
  'gates/rules/judge-changed.test.ts',
  'core/dependencies',
  'gates/rules/new-dependency.test.ts',
  'gates/rules/licenses.test.ts',
);
