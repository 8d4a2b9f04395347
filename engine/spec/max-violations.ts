/** Most schema violations that one document is charged with; what lies beyond is summed up in one issue. */
export const maxViolations = 5000;
