import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { openEmulator } from '../../test/session/tui/open-emulator.ts';
import { openTerminalScene } from '../../test/session/tui/open-terminal-scene.ts';
import { browserPath, openTab } from '../../test/session/web/open-browser.ts';
import { launcherOptions, writProgram } from '../../test/starter/program.ts';
import { outputOf } from '../../test/starter/run-program.ts';
import { terminalSvg } from './terminal-svg.ts';

const [columns, rows] = [100, 32];

/** Plays the session of the tutorial in a pseudo terminal, and draws the screen at each question and at the end. */
export async function drawSession(to: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'writ-picture-'));
  const { request, env, cwd, args } = prepareSample(root);
  await using scene = openTerminalScene({ program: process.execPath, args, cwd, env, columns, rows });
  const draw = async (name: string, title: string): Promise<void> => {
    const emulator = openEmulator(columns, rows);
    await emulator.write(scene.raw());
    const above = emulator.scrollback().length;
    const shown = Array.from({ length: rows }, (_, row) => above + row);
    writeFileSync(join(to, name), terminalSvg(emulator, shown, title));
  };
  await scene.until('sandbox');
  scene.type(request);
  await scene.until('without them.');
  scene.press('enter');
  await scene.until('Is this what you mean?');
  await draw(
    'code-spec.svg',
    '`writ code` shows the spec that the model drafted, and asks whether it is meant',
  );
  await beat();
  scene.type('y');
  await scene.until('Execute this plan?');
  await draw('code-plan.svg', '`writ code` shows the plan, and asks whether to execute it');
  await beat();
  scene.type('w');
  await scene.until('Network: allow');
  await beat();
  scene.type('e');
  await scene.until('Committed: ');
  await beat();
  await draw(
    'code-commit.svg',
    'The first attempt fails a test, the model repairs it, and the change is committed',
  );
  rmSync(root, { recursive: true, force: true });
}

/** Plays the same session on the page, in a browser, and takes a picture of the plan. */
export async function shootPage(to: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'writ-picture-'));
  const { request, env, cwd, args } = prepareSample(root);
  const options = ['--web-only', '--browser-control', 'loopback', '--port', '0', '--mcp-port', '0', '--json'];
  const server = spawn(process.execPath, [...args, ...options], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  try {
    const [line] = await once(createInterface(server.stdout), 'line');
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
    await using tab = await openTab(browser, address, {
      viewport: { width: 1280, height: 800 },
      colorScheme: 'light',
    });
    tab.page.setDefaultTimeout(60_000);
    const press = async (name: string | RegExp): Promise<void> => {
      const button = tab.page.getByRole('button', { name }).first();
      await button.waitFor();
      await beat();
      await button.click();
    };
    await tab.page.locator('.bar .state').waitFor();
    if (await tab.page.getByRole('button', { name: 'Take control' }).first().isVisible())
      await press('Take control');
    await tab.page.locator('#composer').fill(request);
    await press('Send');
    await press(/Confirm/);
    await tab.page.getByText('Network: Deny').first().click();
    await tab.page.getByText('Network: Allow').first().waitFor();
    await beat();
    await tab.page.screenshot({ path: join(to, 'code-page.png') });
  } finally {
    await browser.close();
    server.kill();
    await once(server, 'exit');
    rmSync(root, { recursive: true, force: true });
  }
}

/** A question takes no key that was pressed right when it appeared. */
function beat(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1500));
}

interface Sample {
  readonly request: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Starts `writ code` with the recorded model. */
  readonly args: readonly string[];
}

function prepareSample(root: string): Sample {
  const env = { PATH: process.env.PATH ?? '', HOME: join(root, 'home'), TERM: 'xterm-256color' };
  const writ = [...launcherOptions, writProgram];
  const made = outputOf(process.execPath, [...writ, '--json', 'demo', '--prepare', '--out', 'try-writ'], {
    cwd: root,
    env,
  });
  const { data } = JSON.parse(made.toString()) as { readonly data: { readonly request: string } };
  const args = [...writ, 'code', '--provider', 'replay:../recording'];
  return { request: data.request, env, cwd: join(root, 'try-writ/orders'), args };
}
