import './core/platform/check-runtime.test.ts';
import './core/platform/language-runtime.test.ts';
import './core/platform/supported-os.test.ts';
import './core/run/checks-with-factors.test.ts';
