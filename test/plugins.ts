import './core/tool/find-secrets.test.ts';
import './plugins/redaction/redact.test.ts';
import './plugins/redaction/plugin.test.ts';
import './plugins/testers/store-tester.test.ts';
