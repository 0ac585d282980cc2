#pragma once

double MOOSTime(bool warped = true);
