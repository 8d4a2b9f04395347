import './core/config.test.ts';
import './core/run/workspace-dependencies.test.ts';
import './core/config/approvals-section.test.ts';
import './core/net.test.ts';
