import './service/bus.test.ts';
import './service/dirty-marks.test.ts';
import './service/docs.test.ts';
import './service/hostile-requests.test.ts';
import './service/hostile/clients.test.ts';
import './service/hostile/links.test.ts';
import './service/hostile/slow-requests.test.ts';
import './service/mark-paths.test.ts';
