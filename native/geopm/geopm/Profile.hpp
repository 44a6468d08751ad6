/* Marking from C++, as from C; what cannot be done throws geopm::Exception. */
#ifndef TRISCOPE_GEOPM_PROFILE_HPP
#define TRISCOPE_GEOPM_PROFILE_HPP

#include <cstdint>
#include <string>

#include "geopm/Exception.hpp"
#include "geopm_hash.h"
#include "geopm_hint.h"
#include "geopm_prof.h"

namespace geopm {

class Profile {
  public:
    /* The process's own. */
    static Profile &default_profile() {
        static Profile profile;
        return profile;
    }
    uint64_t region(const std::string &region_name, long hint) {
        uint64_t id = 0;
        checked(geopm_prof_region(region_name.c_str(), static_cast<uint64_t>(hint), &id));
        return id;
    }
    void enter(uint64_t region_id) { checked(geopm_prof_enter(region_id)); }
    void exit(uint64_t region_id) { checked(geopm_prof_exit(region_id)); }
    void epoch() { checked(geopm_prof_epoch()); }
    void shutdown() { checked(geopm_prof_shutdown()); }
    void overhead(double overhead_sec) { checked(geopm_prof_overhead(overhead_sec)); }
    void thread_init(uint32_t num_work_unit) { checked(geopm_tprof_init(num_work_unit)); }
    /* The CPU is the calling thread's own affair. */
    void thread_post(int) { checked(geopm_tprof_post()); }

  private:
    Profile() = default;
    static void checked(int err) {
        if (err) throw Exception("Profile", err);
    }
};

}
#endif
