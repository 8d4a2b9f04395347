import './bin/commands/demo.test.ts';
import './bin/commands/verifying-page.test.ts';
