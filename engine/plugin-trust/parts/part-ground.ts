import type { PluginProcess } from '../process/plugin-process.ts';
import type { Handed } from './handed.ts';

/** A plugin's process, and what it may have. */
export interface PartGround {
  readonly plugin: string;
  readonly process: PluginProcess;
  readonly hosts: readonly string[];
  /** What `options` of its `[[plugins]]` entry says. */
  readonly options: Readonly<Record<string, unknown>>;
  handed(): Promise<Handed>;
}
