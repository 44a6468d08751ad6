/* What C++ programs catch. */
#ifndef TRISCOPE_GEOPM_EXCEPTION_HPP
#define TRISCOPE_GEOPM_EXCEPTION_HPP

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "geopm_error.h"

namespace geopm {

inline std::string error_message(int error_value) {
    char text[256];
    geopm_error_message(error_value, text, sizeof text);
    return text;
}

class Exception : public std::runtime_error {
  public:
    Exception() : Exception("", GEOPM_ERROR_RUNTIME, nullptr, 0) {}
    /* `file` and `line`: where it was thrown; nullptr where that is nobody's business. */
    Exception(const std::string &what, int err, const char *file = nullptr, int line = 0)
        : std::runtime_error(error_message(err) + (what.empty() ? "" : ": " + what) +
                             (file ? " at " + std::string(file) + ":" + std::to_string(line) : "")),
          m_err(err) {}
    int err_value() const { return m_err; }

  private:
    int m_err;
};

/* The number of what was thrown; says it on stderr where told to. */
inline int exception_handler(std::exception_ptr thrown, bool do_print = false) {
    try {
        if (thrown) std::rethrow_exception(thrown);
        return 0;
    } catch (const Exception &error) {
        if (do_print) std::fprintf(stderr, "%s\n", error.what());
        return error.err_value();
    } catch (const std::exception &error) {
        if (do_print) std::fprintf(stderr, "%s\n", error.what());
        return GEOPM_ERROR_RUNTIME;
    }
}

}
#endif
