import type { Fields } from './json-fields.ts';
import type { ReportRefusal, TestReport } from './test-report.ts';

/** Takes the events of one stream, one JSON object each; what is returned refuses the stream. */
export interface EventReader {
  event(event: Fields): ReportRefusal | undefined;
  end(): ReportRefusal | undefined;
  toReport(): TestReport;
}
