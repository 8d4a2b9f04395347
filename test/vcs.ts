import t from 'tap';
import './core/vcs/quote-path.test.ts';
import './core/plan/glob.test.ts';
import './core/plan/scope.test.ts';
import './core/vcs/repository.test.ts';
import './core/vcs/objects.test.ts';
import './core/vcs/take-up-scratch.test.ts';
import './core/vcs/object-reader.test.ts';
import './core/vcs/ref-files.test.ts';
import './core/vcs/write-tree.test.ts';
import './core/vcs/refs.test.ts';
import './core/vcs/small-tree.test.ts';
import './core/vcs/workspace.test.ts';
import './core/vcs/target.test.ts';
import './core/vcs/stale-locks.test.ts';
import './core/vcs/killed.test.ts';
import './core/vcs/two-processes.test.ts';
import './core/vcs/abandon.test.ts';
import './core/run/run-litter.test.ts';
import './core/patch/round-trip.test.ts';
import './core/patch/refusals.test.ts';
import './core/patch/incoming-forms.test.ts';
import './core/patch/large-patch.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
