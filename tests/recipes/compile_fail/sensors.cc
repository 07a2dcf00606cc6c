// SPDX-License-Identifier: Apache-2.0
// Misuse of SensorRegistry.
#include "stator/recipes/sensors.h"

void misuse(const stator::SensorRegistry& sensors, const std::string& text) {
  const stator::SensorId id{text};
  (void)sensors.get(id);

#ifdef TEXT_FOR_AN_ID  // says: could not convert|no matching|cannot convert|invalid initialization
  (void)sensors.get(text);
#endif
#ifdef ID_FOR_A_CITY  // says: could not convert|no matching|cannot convert
  (void)sensors.at({.city = id});
#endif
#ifdef FLOATING_POINT_FOR_A_VALUE  // says: cannot convert|could not convert|no matching
  (void)sensors.record({.sensor = id, .at = stator::Time::now(), .value = 0.1});
#endif
#ifdef SECONDS_FOR_A_TIME  // says: cannot convert|could not convert|no matching
  (void)sensors.record({.sensor = id, .at = 1'700'000'000, .value = 1});
#endif
#ifdef RESULT_IGNORED  // says: ignoring return
  sensors.get(id);
#endif
}
