import './core/tool/shell.test.ts';
import './core/tool/acl.test.ts';
import './core/tool/check-environment.test.ts';
import './core/tool/plainly-allowed.test.ts';
