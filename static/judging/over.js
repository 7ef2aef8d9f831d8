/* Removes the copy of a HIT's answers from this device, once the HIT was submitted, given back or lost. */

import { forgetCopy } from "./drafts.js";

forgetCopy(document.querySelector('meta[name="over"]').content);
