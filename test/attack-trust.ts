import './attack/policy/all.ts';
import './attack/refs/hostile-refs.test.ts';
import './attack/refs/two-records.test.ts';
import './attack/approvals/authors.test.ts';
import './attack/approvals/verdict.test.ts';
import './attack/approvals/forged-seal.test.ts';
import './attack/journal/forged-journal.test.ts';
import './attack/journal/forged-refs.test.ts';
import './attack/journal/forged-target.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
