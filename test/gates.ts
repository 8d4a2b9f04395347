import './core/patch/stated-authors.test.ts';
import './core/patch/hunk-lines.test.ts';
import './core/patch/binary-sides.test.ts';
import './gates/source/word-search.test.ts';
import './gates/grammar/parse-syntax.test.ts';
import './gates/rules/scope.test.ts';
import './gates/rules/no-direct-eval.test.ts';
import './gates/rules/secrets.test.ts';
import './gates/secrets/labelled-set.test.ts';
import './gates/rules/suppressions.test.ts';
import './gates/rules/new-tests.test.ts';
import './gates/rules/tests-kept.test.ts';
import './gates/rules/judge-changed.test.ts';
import './core/dependencies/changed-hashes.test.ts';
import './core/dependencies/changed-sources.test.ts';
import './core/dependencies/package-set.test.ts';
import './gates/rules/new-dependency.test.ts';
import './gates/rules/licenses.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
