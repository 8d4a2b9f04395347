import './core/store/external-local-conformance.test.ts';
import './core/store/external-local-store.test.ts';
import './core/store/git-native-conformance.test.ts';
import './core/store/git-native-store.test.ts';
import './core/store/journal.test.ts';
import './core/store/remove-litter.test.ts';
import './core/store/repeat-write.test.ts';
import './core/store/retain-blobs.test.ts';
import './core/store/run-lock.test.ts';
import './core/store/sql.test.ts';
import './core/store/stored-object.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
