import { room } from './rooms/room.ts';

await room(
  'engine/patch/stated-authors.test.ts',
  'readers/diff',
  'readers/source',
  'gates/rules/scope.test.ts',
  'gates/rules/no-direct-eval.test.ts',
  'gates/rules/secrets.test.ts',
  'gates/secrets',
  'gates/rules/suppressions.test.ts',
  'gates/rules/new-tests.test.ts',
  'gates/new-tests',
  'gates/tests-kept',
  'gates/judge-changed',
  'gates/rules/tests-kept.test.ts',
  'gates/rules/undeclared-api.test.ts',
  'gates/rules/judge-changed.test.ts',
  'readers/packages',
  'gates/rules/new-dependency.test.ts',
  'gates/rules/licenses.test.ts',
);
