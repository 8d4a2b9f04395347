import './gates/source/hunk-lines.test.ts';
import './gates/rules/scope.test.ts';
import './gates/rules/no-direct-eval.test.ts';
import './gates/rules/secrets.test.ts';
import './gates/rules/new-tests.test.ts';
import './gates/rules/new-dependency.test.ts';
import './gates/rules/licenses.test.ts';
