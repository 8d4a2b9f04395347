import { sampleSpec } from '../test/engine/sample.ts';

/** A contract of N objectives, each about a file of its own, with one check of `true`: as many Tasks. */
export function manyTasksSpec(count: number): Buffer {
  return sampleSpec({
    intent: {
      changeType: 'feature',
      objectives: Array.from({ length: count }, (_, index) => `write ${fileOf(index + 1)}`),
      inScope: ['src/'],
    },
    acceptance: {
      verificationPlan: {
        fastChecks: [
          { id: 'quick', kind: 'command', command: 'true', required: true, artifactsProduced: ['test-log'] },
        ],
      },
    },
    constraints: { resources: { maxWallClockSeconds: 7200 } },
    execution: { concurrency: { maxParallelTasks: 4 } },
  });
}

/** The recorded worker's answers to them. */
export function manyTasksRecording(count: number): string {
  const answers = Array.from({ length: count }, (_, index) => ({
    task: index + 1,
    attempt: 1,
    patch: newFile(fileOf(index + 1), `export const value = ${index + 1};`),
  }));
  return JSON.stringify({ format: 'urn:writ:recording:v1', answers });
}

function fileOf(task: number): string {
  return `src/part-${task % 20}/file-${task}.js`;
}

function newFile(path: string, line: string): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
}
