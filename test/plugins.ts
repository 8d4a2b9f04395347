import './core/privacy/secrets/find-secrets.test.ts';
import './core/privacy/secrets/token-checksum.test.ts';
import './core/privacy/find-sensitive.test.ts';
import './core/privacy/redact.test.ts';
import './core/privacy/structured.test.ts';
import './core/privacy/containers.test.ts';
import './core/privacy/redact-texts.test.ts';
import './core/run/redacted-run.test.ts';
import './bin/commands/redact.test.ts';
import './plugins/redaction/plugin.test.ts';
import './plugins/testers/store-tester.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
