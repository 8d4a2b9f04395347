import './core/base/canonical.test.ts';
import './core/base/json-pointer.test.ts';
import './core/base/strict-json.test.ts';
import './core/spec/apply-defaults.test.ts';
import './core/spec/bounds.test.ts';
import './core/spec/command-constraints.test.ts';
import './core/spec/contract-rows.test.ts';
import './core/spec/contract-table.test.ts';
import './core/spec/date-time.test.ts';
import './core/spec/generated.test.ts';
import './core/spec/lifecycle.test.ts';
import './core/spec/profile.test.ts';
import './core/spec/read-intent-spec.test.ts';
import './core/spec/review.test.ts';
import './core/spec/rules.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
