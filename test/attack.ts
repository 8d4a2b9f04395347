import './attack/nothing-verified.test.ts';
import './attack/hostile-input.test.ts';
import './attack/mutation.test.ts';
import './attack/material/forgeries.test.ts';
import './attack/log-memory/forks.test.ts';
import './attack/log-memory/proof-signer.test.ts';
import './attack/log-memory/required.test.ts';
import './attack/predicates/foreign.test.ts';
import './attack/predicates/names.test.ts';
import './attack/predicates/own.test.ts';
import './attack/verify-target/ambiguous.test.ts';
import './attack/verify-target/options.test.ts';
import './attack/verify-target/replaced.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
