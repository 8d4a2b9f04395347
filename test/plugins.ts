import './core/tool/find-secrets.test.ts';
import './plugins/redaction/redact.test.ts';
import './plugins/redaction/plugin.test.ts';
