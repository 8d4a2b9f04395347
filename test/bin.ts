import t from 'tap';
import './bin/args.test.ts';
import './bin/dispatch.test.ts';
import './bin/fault.test.ts';
import './bin/launcher.test.ts';
import './bin/package.test.ts';
import './bin/print.test.ts';
import './bin/read-input.test.ts';
import './bin/schemas.test.ts';
import './bin/commands/answers.test.ts';
import './bin/commands/approve.test.ts';
import './bin/commands/approve-with.test.ts';
import './bin/commands/ledger.test.ts';
import './bin/commands/plan.test.ts';
import './bin/commands/scan.test.ts';
import './bin/commands/spec.test.ts';
import './bin/commands/spec-new-target.test.ts';
import './bin/commands/attest.test.ts';
import './bin/commands/service-dirty.test.ts';
import './bin/commands/service-events.test.ts';
import './bin/commands/service-run.test.ts';
import './bin/commands/service-status.test.ts';
import './bin/commands/verify.test.ts';
import './bin/commands/verify-layouts.test.ts';
import './bin/report/html.test.ts';
import './bin/report/text.test.ts';

// Run directly, tap ends a file after 30 seconds; a browser on a busy machine may need more.
t.setTimeout(240_000);
