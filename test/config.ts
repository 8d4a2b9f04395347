import './core/config.test.ts';
import './core/run/workspace-dependencies.test.ts';
