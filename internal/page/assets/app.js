// The page: the frame and its views.

import { activity } from "./activity.js";
import { changes } from "./changes.js";
import { start } from "./frame.js";
import { health } from "./health.js";
import { review } from "./review.js";
import { bindNames, byKey } from "./names.js";
import { search } from "./search.js";

bindNames();
start({ search, changes, review, activity, health }, { d: byKey });
