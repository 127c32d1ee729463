// The same with the effort of a long suite.
import "./hostile.test.ts";
